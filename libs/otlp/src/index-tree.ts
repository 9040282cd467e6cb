import type { AttributeValue } from './span.js';

/** Beyond these an index or a key part is somebody's mistake or attack, not a message: dropped. */
export const INDEX_MAX = 4_096;
const NODES_MAX = 50_000;
const PARTS_MAX = 12;
const INDEX = /^(?:0|[1-9]\d{0,5})$/;

type Node = Map<string, Node | { readonly leaf: AttributeValue }>;

/**
 * Attributes with numbered keys (`0.message.role`, `0.message.content`, `1…`) as the JSON they stand for. Where all parts of
 * a level are indices it is a list in the order of the indices, gaps closed; an index over 4096 is dropped with all under it.
 * Undefined when nothing is there. `__proto__` and its kin are no keys of messages and are dropped.
 * @param drop called for each key that is dropped
 */
export function indexTree(entries: Iterable<readonly [key: string, value: AttributeValue]>, drop: () => void): unknown {
  const root: Node = new Map();
  let nodes = 0;
  for (const [key, value] of entries) {
    const parts = key.split('.', PARTS_MAX + 1);
    if (nodes > NODES_MAX || parts.length > PARTS_MAX || parts.some(isForbidden)) {
      drop();
      continue;
    }
    nodes += parts.length;
    plant(root, parts, value);
  }
  return root.size === 0 ? undefined : harvest(root);
}

function isForbidden(part: string): boolean {
  if (part === '__proto__' || part === 'constructor' || part === 'prototype') return true;
  // `-1` and `1e9` want to be indices too.
  return /^[-+\d]/.test(part) && (!INDEX.test(part) || Number(part) > INDEX_MAX);
}

function plant(root: Node, parts: readonly string[], value: AttributeValue): void {
  let node = root;
  for (const part of parts.slice(0, -1)) {
    const next = node.get(part);
    if (next instanceof Map) node = next;
    else {
      const made: Node = new Map();
      node.set(part, made);
      node = made;
    }
  }
  const last = parts.at(-1) ?? '';
  if (!node.has(last)) node.set(last, { leaf: value });
}

function harvest(node: Node): unknown {
  const entries = [...node].map(([key, next]) => [key, next instanceof Map ? harvest(next) : next.leaf] as const);
  if (!entries.every(([key]) => INDEX.test(key))) return Object.fromEntries(entries);
  return entries.sort(([a], [b]) => Number(a) - Number(b)).map(([, value]) => value);
}
