/** The list under a key, made where it is missing. */
export function listIn<K, T>(lists: Map<K, T[]>, key: K): T[] {
  const known = lists.get(key);
  if (known !== undefined) return known;
  const made: T[] = [];
  lists.set(key, made);
  return made;
}
