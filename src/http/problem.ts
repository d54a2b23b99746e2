import { AuditLogError, type AuditLogErrorCode, errorCodes } from '../errors.js'
import type { HttpResponse } from './exchange.js'

export const JSON_API = 'application/vnd.api+json'

/** The top-level member of all documents. */
export const jsonapi = { version: '1.1' }

/** What an error of the core means to a client. A new code does not compile until it is here. */
const STATUSES: Readonly<Record<AuditLogErrorCode, number>> = {
  ABORTED: 503,
  CLOSED: 503,
  DEADLINE_EXCEEDED: 503,
  IDEMPOTENCY_CONFLICT: 422,
  IMPORT_CONFLICT: 409,
  INVALID_DATA: 422,
  INVALID_EVENT: 422,
  INVALID_LINK: 422,
  INVALID_OPTION: 500,
  INVALID_VALUE: 400,
  LIVE_CLOSED: 409,
  MALFORMED_PARAMETER: 400,
  MISSING_DEPENDENCY: 500,
  NOT_COVERED: 500,
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
  INVALID_HEADER: { status: 400, title: 'a header of the request cannot be used' },
  MALFORMED_DOCUMENT: { status: 400, title: 'the body is not a JSON:API document' },
  UNAUTHENTICATED: { status: 401, title: 'user name and password are required' },
  CLIENT_ID: { status: 403, title: 'the server gives events their ids' },
  FORBIDDEN: { status: 403, title: 'the user may not do this' },
  NOT_FOUND: { status: 404, title: 'there is no such resource' },
  METHOD_NOT_ALLOWED: { status: 405, title: 'the resource does not take this method' },
  NOT_ACCEPTABLE: { status: 406, title: 'nothing that the client takes is served' },
  WRONG_RESOURCE_TYPE: { status: 409, title: 'the resource type is not one of this collection' },
  BODY_TOO_LARGE: { status: 413, title: 'the body is too large' },
  UNSUPPORTED_MEDIA_TYPE: { status: 415, title: 'the body must be application/vnd.api+json' },
  TOO_MANY_TRIES: { status: 429, title: 'too many failed tries to authenticate' },
  INTERNAL_ERROR: { status: 500, title: 'the service failed' },
} as const satisfies Record<string, { status: number; title: string }>

export type ProblemCode = keyof typeof problems

export interface ProblemDetails {
  readonly pointer?: string
  readonly parameter?: string
  /** The name of the request's header that is wrong. */
  readonly header?: string
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

/** JSON:API 1.1, "Error Objects". */
type ErrorSource =
  | { readonly parameter: string }
  | { readonly pointer: string }
  | { readonly header: string }

function sourceOf({ parameter, pointer, header }: ErrorPlace): ErrorSource | undefined {
  if (parameter !== undefined) return { parameter }
  if (pointer !== undefined) return { pointer }
  return header === undefined ? undefined : { header }
}

/** Where in a request an error lies; at most one of them. */
interface ErrorPlace {
  readonly parameter?: string | undefined
  readonly pointer?: string | undefined
  readonly header?: string | undefined
}

interface Failure {
  readonly status: number
  readonly code: string
  readonly title: string
  readonly detail: string
}

function respond(
  { status, ...failure }: Failure,
  place: ErrorPlace,
  headers: Readonly<Record<string, string>> = {},
): HttpResponse {
  const source = sourceOf(place)
  const error = { status: String(status), ...failure, ...(source && { source }) }
  return {
    status,
    headers: { 'content-type': JSON_API, 'cache-control': 'no-store', ...headers },
    body: JSON.stringify({ jsonapi, errors: [error] }),
  }
}

/** Where errors lie that the core does not know the place of. */
const PLACES: Readonly<Partial<Record<AuditLogErrorCode, ErrorPlace>>> = {
  IDEMPOTENCY_CONFLICT: { header: 'idempotency-key' },
}

/** The answer to an {@link HttpProblem}, or to one that is made here from its code. */
export function problemResponse(problem: HttpProblem): HttpResponse {
  const { status, title } = problems[problem.code]
  const { details, code, message: detail } = problem
  return respond({ status, code, title, detail }, details, details.headers)
}

/** The JSON:API answer to whatever the endpoints throw; what is no error of ours is rethrown. */
export function errorResponse(thrown: unknown): HttpResponse {
  if (thrown instanceof HttpProblem) return problemResponse(thrown)
  if (!(thrown instanceof AuditLogError)) throw thrown
  const { code } = thrown
  const status = statusOf(code)
  const title = errorCodes[code]
  // What went wrong inside is the host's to know, not the client's.
  const detail = status >= 500 ? title : thrown.message
  return respond({ status, code, title, detail }, PLACES[code] ?? thrown)
}
