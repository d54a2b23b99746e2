import { expect } from 'vitest'
import { type ErrorDocument, JSON_API, type RawResponse } from './http.js'

type Problem = ErrorDocument['errors'][number]

/** Expects a document with one error that has this status, this code, and this source if one is given. */
export function expectError(
  response: RawResponse,
  status: number,
  code: string,
  source?: Problem['source'] | { readonly header: string },
): Problem {
  expect(response.status, response.body).toBe(status)
  expect(response.headers['content-type']).toBe(JSON_API)
  const [error, ...others] = (JSON.parse(response.body) as ErrorDocument).errors
  expect(others).toEqual([])
  const text = expect.stringMatching(/./) as string
  expect(error).toMatchObject({ status: String(status), code, title: text, detail: text })
  if (source) expect(error!.source).toEqual(source)
  return error!
}
