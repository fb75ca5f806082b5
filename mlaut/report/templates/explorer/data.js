"use strict";
// The data of a page: one compressed text (mlaut/report/explorer/packing.py).

const ARRAYS = { f8: Float64Array, u4: Uint32Array, u1: Uint8Array };

/** Return the records of the page; `{at, n, type}` in them stands for a typed array. */
async function unpacked() {
  const text = document.getElementById("data").textContent;
  const packed = Uint8Array.from(atob(text), (sign) => sign.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"));
  const buffer = await new Response(stream).arrayBuffer();
  const size = new Uint32Array(buffer, 0, 1)[0];
  const records = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 8, size)));
  const array = ({ at, n, type }) => new ARRAYS[type](buffer, 8 + size + at, n);
  for (const view of records.views) {
    for (const name of ["scores", "losses", "holes", "seconds", "intervals"]) view[name] = array(view[name]);
  }
  return { ...records, array };
}
