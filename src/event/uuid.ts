const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/

/** True for the canonical text of any UUID, in lower case. */
export function isUuid(id: string): boolean {
  return UUID.test(id)
}
