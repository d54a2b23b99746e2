import { STATUS_CODES } from 'node:http'
import { type AuditLogErrorCode, errorCodes } from '../../errors.js'
import { JSON_API, problems, statusOf } from '../problem.js'

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

const text = { type: 'string' } as const

/** JSON:API 1.1, "Error Objects". */
function errorSchema(status: number, codes: readonly Code[]) {
  return {
    type: 'object',
    properties: {
      status: { const: String(status) },
      code: { oneOf: codes.map(({ code, title }) => ({ const: code, description: title })) },
      title: text,
      detail: text,
      source: {
        type: 'object',
        description:
          'The invalid part of the request: a member of the body, a parameter or a header.',
        properties: { pointer: text, parameter: text, header: text },
        minProperties: 1,
        maxProperties: 1,
        additionalProperties: false,
      },
      meta: {
        type: 'object',
        description: 'Figures of the problem, such as the number of matching events.',
        additionalProperties: { type: ['number', 'boolean'] },
      },
    },
    required: ['status', 'code', 'title', 'detail'],
    additionalProperties: false,
  }
}

const header = (name: string, description: string, required = true) => ({
  [name]: { description, required, schema: text },
})

const HEADERS: Readonly<Record<number, object>> = {
  401: header('WWW-Authenticate', 'The challenge, unless the service sends none.', false),
  405: header('Allow', 'The methods that the path supports.'),
  429: header('Retry-After', 'Seconds to wait before the next attempt.'),
}

/** OpenAPI 3.1, "Response Object": the JSON:API errors of a status, with their codes. */
export function problemResponseObject(status: number): object {
  const codes = CODES.filter((code) => code.status === status)
  const headers = HEADERS[status]
  const errors = { type: 'array', items: errorSchema(status, codes), minItems: 1 }
  return {
    description: `${STATUS_CODES[status]}: ${codes.map(({ title }) => title).join('; or ')}.`,
    ...(headers && { headers }),
    content: {
      [JSON_API]: {
        schema: {
          type: 'object',
          properties: { jsonapi: { $ref: '#/components/schemas/JsonApi' }, errors },
          required: ['jsonapi', 'errors'],
          additionalProperties: false,
        },
      },
    },
  }
}

export const problemName = (status: number): string => `Problem${status}`
