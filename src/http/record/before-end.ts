import { OutgoingMessage, type ServerResponse } from 'node:http'
import { isBytes } from '../../event/realm.js'

/** Records the outcome of a request; returns `undefined` if there is nothing to wait for. */
export type EndTask = (
  /** False if the connection closed before the end of the response. */
  isAnswered: boolean,
  /** The last chunk of the response. */
  chunk: unknown,
) => Promise<void> | undefined

/** The part of Node's responses that creates status line and headers. The middleware `compression` uses it too. */
interface Head {
  _contentLength: number | null
  _implicitHeader(): void
}

const isContent = (chunk: unknown): chunk is string | Uint8Array =>
  typeof chunk === 'string' || isBytes(chunk)

/** Fixes status and headers as `end(chunk, encoding)` does: later changes throw, and have no effect on the client. */
function fixHead(response: ServerResponse, chunk: unknown, encoding: unknown): void {
  if (response.headersSent || !(response instanceof OutgoingMessage)) return
  const head = response as unknown as Head
  const length = isContent(chunk) ? Buffer.byteLength(chunk, encoding as 'utf8') : 0
  head._contentLength = length
  head._implicitHeader()
}

/**
 * Calls `task` once: with true when the response is about to end, which waits for the task; with false
 * when the connection closes before that. The response itself is not changed: while it waits, it behaves as
 * one that has ended.
 */
export function beforeEnd(response: ServerResponse, task: EndTask): void {
  const end = response.end.bind(response) as (...content: unknown[]) => ServerResponse
  const isOutgoing = response instanceof OutgoingMessage
  let isDone = false
  let isWaiting = false
  const onClose = (): void => {
    if (isDone) return
    isDone = true
    void task(false, undefined)
  }
  response.once('close', onClose)
  response.end = (...content: unknown[]) => {
    const [chunk, encoding] = content
    const isUsual =
      isContent(chunk) || chunk === undefined || chunk === null || typeof chunk === 'function'
    // Other values make `end` throw.
    if (isDone || isWaiting || !isUsual) return end(...content)
    fixHead(response, chunk, typeof encoding === 'string' ? encoding : undefined)
    isDone = true
    const running = task(true, chunk)
    if (!running) return end(...content)
    isWaiting = true
    // `end` and `write` behave as after the end.
    if (isOutgoing) response.finished = true
    void running.then(() => {
      isWaiting = false
      if (isOutgoing) response.finished = false
      return end(...content)
    })
    return response
  }
}
