import { AuditLogError, type AuditLogErrorCode, errorCodes } from '../errors.js'
import type { HttpResponse } from './exchange.js'

export const JSON_API = 'application/vnd.api+json'

/** What an error of the core means to a client. A new code does not compile until it is here. */
const STATUSES: Readonly<Record<AuditLogErrorCode, number>> = {
  ABORTED: 503,
  CLOSED: 503,
  DEADLINE_EXCEEDED: 503,
  IMPORT_CONFLICT: 409,
  INVALID_DATA: 422,
  INVALID_EVENT: 422,
  INVALID_LINK: 422,
  INVALID_OPTION: 500,
  INVALID_VALUE: 400,
  LIVE_CLOSED: 409,
  MALFORMED_PARAMETER: 400,
  MISSING_DEPENDENCY: 500,
  QUERY_TIMEOUT: 503,
  QUERY_TOO_LARGE: 400,
  QUEUE_FULL: 503,
  STORE_FAILED: 503,
  UNKNOWN_ATTRIBUTE: 400,
  UNKNOWN_EVENT_TYPE: 422,
  UNKNOWN_PARAMETER: 400,
  UNKNOWN_PREDICATE: 400,
}

/** The HTTP status that the endpoints answer an error of the core with. */
export function statusOf(code: AuditLogErrorCode): number {
  return STATUSES[code]
}

/** Errors that belong to HTTP alone: code, status and title. */
export const problems = {
  MALFORMED_DOCUMENT: { status: 400, title: 'the body is not a JSON:API document' },
  UNAUTHENTICATED: { status: 401, title: 'user name and password are required' },
  CLIENT_ID: { status: 403, title: 'the server gives events their ids' },
  NOT_FOUND: { status: 404, title: 'there is no such resource' },
  METHOD_NOT_ALLOWED: { status: 405, title: 'the resource does not take this method' },
  NOT_ACCEPTABLE: { status: 406, title: 'only application/vnd.api+json is served' },
  WRONG_RESOURCE_TYPE: { status: 409, title: 'the resource type is not one of this collection' },
  BODY_TOO_LARGE: { status: 413, title: 'the body is too large' },
  UNSUPPORTED_MEDIA_TYPE: { status: 415, title: 'the body must be application/vnd.api+json' },
} as const satisfies Record<string, { status: number; title: string }>

export type ProblemCode = keyof typeof problems

export interface ProblemDetails {
  readonly pointer?: string
  readonly headers?: Readonly<Record<string, string>>
}

/** Thrown inside the endpoints, and answered as a JSON:API error. */
export class HttpProblem extends Error {
  readonly code: ProblemCode
  readonly details: ProblemDetails

  constructor(code: ProblemCode, detail: string, details: ProblemDetails = {}) {
    super(detail)
    this.code = code
    this.details = details
  }
}

interface ErrorObject {
  readonly status: string
  readonly code: string
  readonly title: string
  readonly detail: string
  readonly source?: { readonly parameter: string } | { readonly pointer: string }
}

function respond(error: ErrorObject, headers: Readonly<Record<string, string>> = {}): HttpResponse {
  return {
    status: Number(error.status),
    headers: { 'content-type': JSON_API, 'cache-control': 'no-store', ...headers },
    body: JSON.stringify({ errors: [error] }),
  }
}

/** The answer to an {@link HttpProblem}, or to one that is made here from its code. */
export function problemResponse(problem: HttpProblem): HttpResponse {
  const { status, title } = problems[problem.code]
  const { pointer, headers } = problem.details
  const error = { status: String(status), code: problem.code, title, detail: problem.message }
  return respond(pointer === undefined ? error : { ...error, source: { pointer } }, headers)
}

/** The JSON:API answer to whatever the endpoints throw; what is no error of ours is rethrown. */
export function errorResponse(thrown: unknown): HttpResponse {
  if (thrown instanceof HttpProblem) return problemResponse(thrown)
  if (!(thrown instanceof AuditLogError)) throw thrown
  const { code, parameter, pointer } = thrown
  const status = statusOf(code)
  const title = errorCodes[code]
  // What went wrong inside is the host's to know, not the client's.
  const detail = status >= 500 ? title : thrown.message
  const error = { status: String(status), code, title, detail }
  if (parameter !== undefined) return respond({ ...error, source: { parameter } })
  return respond(pointer === undefined ? error : { ...error, source: { pointer } })
}
