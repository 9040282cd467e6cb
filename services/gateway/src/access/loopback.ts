/** 127.0.0.0/8 and ::1, also mapped into IPv6. */
export function isLoopbackAddress(address: string): boolean {
  return /^(::ffff:)?127\.\d{1,3}\.\d{1,3}\.\d{1,3}$/i.test(address) || address === '::1';
}

/** A Host header, or a host to listen on, that means this machine only. */
export function isLoopbackHost(host: string): boolean {
  const name = host.replace(/:\d+$/, '').replace(/^\[|\]$/g, '');
  return name.toLowerCase() === 'localhost' || name.toLowerCase().endsWith('.localhost') || isLoopbackAddress(name);
}
