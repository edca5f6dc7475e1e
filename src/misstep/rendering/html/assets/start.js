// What a page from a server loads.

import {start} from "./report.js";

start();
