import { STATUS_CODES } from 'node:http'
import type { Context, Middleware } from 'koa'
import { HttpError } from 'koa'
import { DatabaseBusy } from './documents/documents.js'

export const JSON_API = 'application/vnd.api+json'

interface ProblemSource {
  readonly pointer?: string
  readonly parameter?: string
}

/** Thrown by handlers, sent as a JSON:API error. */
export class Problem extends Error {
  readonly status: number
  readonly code: string
  readonly source: ProblemSource | undefined

  constructor(status: number, code: string, detail: string, source?: ProblemSource) {
    super(detail)
    this.status = status
    this.code = code
    this.source = source
  }
}

export const notFound = (what: string): Problem =>
  new Problem(404, 'NOT_FOUND', `${what} does not exist`)

export const invalid = (detail: string, pointer: string): Problem =>
  new Problem(422, 'INVALID_ATTRIBUTE', detail, { pointer })

function asProblem(thrown: unknown): Problem {
  if (thrown instanceof Problem) return thrown
  if (thrown instanceof HttpError && thrown.status < 500)
    return new Problem(thrown.status, codeOf(thrown.status), thrown.message)
  console.error(thrown)
  if (thrown instanceof DatabaseBusy)
    return new Problem(503, 'DATABASE_BUSY', 'the database is busy; try again')
  return new Problem(500, 'UNEXPECTED', 'the service failed to process the request')
}

const codeOf = (status: number): string =>
  (STATUS_CODES[status] ?? 'error').toUpperCase().replaceAll(/[^A-Z]+/g, '_')

function sendProblem(ctx: Context, { status, code, message, source }: Problem): void {
  const title = STATUS_CODES[status] ?? 'Error'
  ctx.status = status
  ctx.body = JSON.stringify({
    errors: [{ status: String(status), code, title, detail: message, source }],
  })
  ctx.type = JSON_API
}

/** The outermost Koa middleware: sends every error as a JSON:API document. */
export const answerProblems: Middleware = async (ctx, next) => {
  try {
    await next()
    if (ctx.status >= 400 && !ctx.body) {
      const detail = `${ctx.method} ${ctx.path}: ${STATUS_CODES[ctx.status]}`
      sendProblem(ctx, new Problem(ctx.status, codeOf(ctx.status), detail))
    }
  } catch (thrown) {
    sendProblem(ctx, asProblem(thrown))
  }
}
