import { STATUS_CODES } from 'node:http'
import { type AuditLogErrorCode, errorCodes } from '../../errors.js'
import { JSON_API, problems, statusOf } from '../problem.js'
import * as s from './shapes.js'

/** Error statuses that every endpoint may return. */
export const COMMON_PROBLEMS = [401, 403, 429, 500, 503] as const

interface Code {
  readonly code: string
  readonly status: number
  readonly title: string
}

/** All error codes. */
const CODES: readonly Code[] = [
  ...Object.entries(errorCodes).map(([code, title]) => ({
    code,
    title,
    status: statusOf(code as AuditLogErrorCode),
  })),
  ...Object.entries(problems).map(([code, problem]) => ({ code, ...problem })),
]

/** JSON:API 1.1, "Error Objects". */
const errorSchema = (status: number, codes: readonly Code[]) =>
  s.object({
    status: s.one(String(status)),
    code: { oneOf: codes.map(({ code, title }) => s.described(s.one(code), title)) },
    title: s.text(),
    detail: s.text(),
    'source?': {
      ...s.open(s.each(['pointer?', 'parameter?', 'header?'], s.text())),
      description:
        'The invalid part of the request: a member of the body, a parameter or a header.',
      minProperties: 1,
      maxProperties: 1,
      additionalProperties: false,
    },
    'meta?': {
      type: 'object',
      description: 'Figures of the problem, such as the number of matching events.',
      additionalProperties: { type: ['number', 'boolean'] },
    },
  })

const header = (name: string, description: string, required = true) => ({
  [name]: { description, required, schema: s.text() },
})

const HEADERS: Readonly<Record<number, object>> = {
  401: header('WWW-Authenticate', 'The challenge, unless the service sends none.', false),
  405: header('Allow', 'The methods that the path supports.'),
  429: header('Retry-After', 'Seconds to wait before the next attempt.'),
  503: header('Retry-After', 'Seconds until an event or a head may be sealed.', false),
}

/** OpenAPI 3.1, "Response Object": the JSON:API errors of a status, with their codes. */
export function problemResponseObject(status: number): object {
  const codes = CODES.filter((code) => code.status === status)
  const headers = HEADERS[status]
  const errors = { type: 'array', items: errorSchema(status, codes), minItems: 1 }
  return {
    description: `${STATUS_CODES[status]}: ${codes.map(({ title }) => title).join('; or ')}.`,
    ...(headers && { headers }),
    content: { [JSON_API]: { schema: s.object({ jsonapi: s.ref('JsonApi'), errors }) } },
  }
}

export const problemName = (status: number): string => `Problem${status}`
