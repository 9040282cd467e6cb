/** A body of which nothing can be read: to be answered with 400, never to be sent again. */
export class OtlpError extends Error {
  override readonly name = 'OtlpError';
}
