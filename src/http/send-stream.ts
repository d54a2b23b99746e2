import type { ServerResponse } from 'node:http'
import type { HttpStream } from './exchange.js'

/** Resolves once the response takes more, or takes nothing any more. */
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

/**
 * Writes a body as it comes, no faster than the client takes it, and ends the response. Resolves when all
 * of it is written or the client is gone. Rejects with what the body throws; the response is cut off
 * then, which tells the client that it is not whole.
 *
 * Chunks are written as they are: a stream between would cost more than the writing, for many clients.
 */
export async function sendStream(response: ServerResponse, body: HttpStream): Promise<void> {
  try {
    for await (const chunk of body) {
      if (response.destroyed) return
      if (!response.write(chunk) && !response.destroyed) await whenDrained(response)
    }
    response.end()
  } catch (error) {
    response.destroy()
    throw error
  }
}
