"""Other sentences, trees and orders for a case that has been taken apart."""
