/** Somebody else may have the episode by now: whoever hears this does nothing more about it. */
export class LeaseLost extends Error {
  override readonly name = 'LeaseLost';
}
