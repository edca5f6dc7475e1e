"""Other sentences, trees and orders for a case that is taken apart."""
