import type { ServerResponse } from 'node:http'
import type { HttpStream } from './exchange.js'
import { thrownError } from './thrown-error.js'

/** Resolves on `drain` or `close`. */
const whenDrained = (response: ServerResponse): Promise<void> =>
  new Promise((resolve) => {
    const end = (): void => {
      response.off('drain', end)
      response.off('close', end)
      resolve()
    }
    response.on('drain', end)
    response.on('close', end)
  })

/** A response that may stay open for hours. */
const isEventStream = (response: ServerResponse): boolean =>
  String(response.getHeader('content-type')).startsWith('text/event-stream')

/**
 * Writes a body as fast as the client reads it, and ends the response. Resolves when everything is written
 * or the client has disconnected. If the body throws, destroys the response, so that the client sees that it
 * is incomplete, and rejects with the error; see `thrownError`.
 *
 * Writes to the response directly: with many clients an intermediate stream would cost more than the writes.
 */
export async function sendStream(response: ServerResponse, body: HttpStream): Promise<void> {
  try {
    for await (const chunk of body) {
      if (response.destroyed) return
      // Node keeps the text of the headers. Written together with a chunk it stays in some thirty pieces, which take a kilobyte.
      if (!response.headersSent && isEventStream(response)) response.flushHeaders()
      if (!response.write(chunk) && !response.destroyed) await whenDrained(response)
    }
    response.end()
  } catch (error) {
    response.destroy()
    throw thrownError(error)
  }
}
