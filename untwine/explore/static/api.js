// Requests to the server that this page came from, and to nothing else. The token is in a cookie since the page was opened.

async function ask(path, options = {}) {
  let response;
  try {
    response = await fetch(path, { credentials: "same-origin", ...options });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Error("The explorer does not answer. Is untwine explore still running?");
  }
  if (!response.ok) {
    const error = new Error((await response.text()) || `The request was refused (${response.status}).`);
    error.status = response.status;
    throw error;
  }
  return response;
}

function address(path, fields = {}) {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(fields)) if (value !== undefined && value !== null) query.set(name, String(value));
  const text = query.toString();
  return text ? `${path}?${text}` : path;
}

export const json = async (path, fields, signal) => (await ask(address(path, fields), { signal })).json();
export const text = async (path, fields) => (await ask(address(path, fields))).text();

const TYPES = { uint8: Uint8Array, float32: Float32Array };

// Arrays as the server packs them: see untwine/explore/payload.py. Null where there is nothing yet.
export async function packed(path, fields, signal) {
  const response = await ask(address(path, fields), { signal });
  if (response.status === 204) return null;
  const content = await response.arrayBuffer();
  const length = new DataView(content).getUint32(0, true);
  const header = JSON.parse(new TextDecoder().decode(new Uint8Array(content, 4, length)));
  let start = 4 + length;
  for (const { name, dtype, shape } of header.arrays) {
    const size = shape.reduce((product, side) => product * side, 1);
    const values = new TYPES[dtype](content, start, size);
    header[name] = { values, shape };
    start += values.byteLength + ((8 - (values.byteLength % 8)) % 8);
  }
  return header;
}

export async function post(path, content) {
  return ask(path, { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(content) });
}

export function keep(blob, name) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

export async function download(path, fields, name) {
  keep(await (await ask(address(path, fields))).blob(), name);
}

// Runs one call at a time; of those that come meanwhile only the last is made, and none once it is not `alive`.
export function latest(call, failed, alive = () => true) {
  let busy = false;
  let waiting = null;
  async function next(...args) {
    if (!alive()) return;
    if (busy) {
      waiting = args;
      return;
    }
    busy = true;
    try {
      await call(...args);
    } catch (error) {
      if (alive()) failed(error);
    } finally {
      busy = false;
      if (waiting) {
        const then = waiting;
        waiting = null;
        next(...then);
      }
    }
  }
  return next;
}
