// Where an index and details come from: {index(): Promise<Index>, detail(id): Promise<Detail | null>}.

const BLOCK = 64; // as in report/web/archive.py

/** What a page holds that is one file: blocks of details are unpacked when one of them is asked for. */
export function heldBy(document) {
  const index = JSON.parse(document.getElementById("index").textContent);
  const unpacked = new Map();
  let lines = null;
  return {
    index: async () => index,
    async detail(id) {
      const row = index.id.indexOf(id);
      if (row < 0 || row >= index.kept) return null;
      await parsed(document);
      lines ??= document.getElementById("details").textContent.trim().split("\n");
      const block = Math.floor(row / BLOCK);
      if (!unpacked.has(block)) unpacked.set(block, unpack(lines[block]));
      return (await unpacked.get(block))[row % BLOCK];
    },
  };
}

/** Once all of the page is there: the list can be used before the details have arrived. */
async function parsed(document) {
  if (document.readyState !== "loading") return;
  await new Promise((done) => document.addEventListener("DOMContentLoaded", done, { once: true }));
}

async function unpack(line) {
  const bytes = Uint8Array.from(atob(line), (letter) => letter.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(stream).json();
}

/** What a server sends: `BASE/cases.json` and `BASE/cases/ID.json`. */
export function servedAt(base) {
  return {
    index: () => get(`${base}/cases.json`),
    detail: (id) => get(`${base}/cases/${encodeURIComponent(id)}.json`),
  };
}

async function get(address) {
  const answer = await fetch(address, { headers: { accept: "application/json" } });
  if (answer.status === 404) return null;
  if (!answer.ok) throw new Error(`${address} answered with ${answer.status}`);
  return answer.json();
}
