/** CloudEvents binary mode headers (v1.0) for events that outsiders read. `at`: milliseconds since the epoch. */
export function cloudEventHeaders(event: {
  id: string;
  type: string;
  project: string;
  subject: string;
  at: number;
}): Record<string, string> {
  return {
    'ce-specversion': '1.0',
    'ce-id': event.id,
    'ce-type': `fleetmend.${event.type}`,
    'ce-source': `/fleetmend/${event.project}`,
    'ce-subject': event.subject,
    'ce-time': new Date(event.at).toISOString(),
  };
}
