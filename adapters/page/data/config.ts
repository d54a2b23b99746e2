const { dataset } = document.documentElement

/** Where the endpoints are, as the server wrote it into the document. */
export const apiPath = dataset['api'] ?? '/api/events'

/** What the host calls itself. */
export const hostName = dataset['name'] ?? ''
