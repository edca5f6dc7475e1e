// The page of a run from a server: what a report shows, and how far the run is while it goes on.

import {start} from "./report.js";
import {addPartLinks, follow} from "./follow.js";

addPartLinks(document);
const list = await start({ page: (id) => `${location.pathname}/cases/${encodeURIComponent(id)}` });
const live = document.getElementById("live");
if (live) follow(live, list);
