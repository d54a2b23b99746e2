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

function holdFinished(response: ServerResponse): () => void {
  response.finished = true
  return () => {
    response.finished = false
  }
}

/** Throws as Node does for a response of HTTP/2 that has ended. */
function refuseHead(): never {
  const message = 'the response has already been sent'
  throw Object.assign(new Error(message), { code: 'ERR_HTTP2_HEADERS_SENT' })
}

const HEAD_METHODS = ['setHeader', 'appendHeader', 'removeHeader', 'writeHead', 'flushHeaders']

/**
 * Makes a response that is not of HTTP/1.1 behave as one that has ended: Node fixes its head only when it sends it. Returns a
 * function that undoes this.
 */
function holdHead(response: ServerResponse): () => void {
  const { statusCode } = response
  const held: PropertyDescriptorMap = {
    headersSent: { get: () => true },
    writableEnded: { get: () => true },
    finished: { get: () => true },
    statusCode: { get: () => statusCode, set() {} },
    write: { value: () => false },
    end: { value: () => response },
  }
  for (const name of HEAD_METHODS) if (name in response) held[name] = { value: refuseHead }
  const before = new Map<string, PropertyDescriptor | undefined>()
  for (const [name, property] of Object.entries(held)) {
    before.set(name, Object.getOwnPropertyDescriptor(response, name))
    Object.defineProperty(response, name, { ...property, configurable: true })
  }
  return () => {
    for (const [name, property] of before)
      if (property) Object.defineProperty(response, name, property)
      else Reflect.deleteProperty(response, name)
  }
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
    const release = isOutgoing ? holdFinished(response) : holdHead(response)
    void running.then(() => {
      isWaiting = false
      release()
      return end(...content)
    })
    return response
  }
}
