/** In characters. Servers and proxies take at least 8 KiB of a request line. */
const MAX_LENGTH = 7000

/** True if a query string is too long for a URL. It can be posted to the endpoints of lists and counts, and not be followed. */
export const isTooLongForUrl = (query: string): boolean => query.length > MAX_LENGTH
