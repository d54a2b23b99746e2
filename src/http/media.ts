import { MIMEType } from 'node:util'
import type { HttpResponse } from './exchange.js'
import { HttpProblem, JSON_API } from './problem.js'

const VARIANTS = { vary: 'Accept', 'cache-control': 'private, no-cache' }

/** An answer whose body is a JSON:API document. */
export function json(status: number, body: string): HttpResponse {
  return { status, headers: { 'content-type': JSON_API, ...VARIANTS }, body }
}

const ACCEPTED = new Set(['', '*/*', 'application/*', 'application/json', JSON_API])

/** JSON is what we speak; a client that takes any of it, or says nothing, gets JSON:API. */
export function checkAccept(accept: string): void {
  const ranges = accept.split(',').map((range) => range.split(';', 1)[0]!.trim().toLowerCase())
  if (!ranges.some((range) => ACCEPTED.has(range)))
    throw new HttpProblem('NOT_ACCEPTABLE', `accept must allow ${JSON_API}; it is ${accept}`)
}

/** JSON:API 1.1, "Server Responsibilities"; `charset=utf-8` is common and says nothing new. */
export function checkMediaType(contentType: string): void {
  let media: MIMEType | undefined
  try {
    media = new MIMEType(contentType)
  } catch {
    // Reported below, as any other wrong type.
  }
  const isJsonApi =
    media?.essence === JSON_API &&
    [...media.params].every(
      ([name, value]) => name === 'charset' && value.toLowerCase() === 'utf-8',
    )
  if (!isJsonApi) {
    const given = contentType === '' ? 'none' : JSON.stringify(contentType)
    throw new HttpProblem(
      'UNSUPPORTED_MEDIA_TYPE',
      `content-type must be ${JSON_API}; it is ${given}`,
    )
  }
}
