import { RecordedFetchExchange } from '../../src/http/fetch/recorded-exchange.js'
import { fetchRecorder } from '../../src/http/fetch/request-recorder.js'
import { type SentBody, sentBody } from '../../src/http/fetch/sent-body.js'
import type { MatchedRoute, RequestUser } from '../../src/http/record/exchange.js'
import {
  type RecordingAudit,
  REQUEST_RECORDER_OPTIONS,
  type RequestRecorderOptions,
} from '../../src/http/record/recorder.js'
import { type AddressOption, addressOf } from './address.js'
import { type HonoContext, type HonoMiddleware, type UsernameOption, usernameOf } from './hono.js'
import { handlingRoute } from './routes.js'
import { checkOptions, type OptionNames } from '../../src/options.js'

export interface RecordRequestsOptions
  extends UsernameOption<RequestUser>, AddressOption, RequestRecorderOptions<HonoContext> {}

const RECORD_OPTIONS: OptionNames<RecordRequestsOptions> = {
  ...REQUEST_RECORDER_OPTIONS,
  username: true,
  address: true,
}

class HonoExchange extends RecordedFetchExchange<HonoContext> {
  readonly #options: RecordRequestsOptions

  constructor(context: HonoContext, options: RecordRequestsOptions) {
    super(context, context.req.raw)
    this.#options = options
  }

  get address(): unknown {
    return addressOf(this.#options, this.context)
  }

  get username(): RequestUser {
    return usernameOf(this.context, this.#options)
  }

  protected findRoute(): MatchedRoute | undefined {
    return handlingRoute(this.context)
  }

  /** Hono keeps what its methods return. Does not wait for a body that is still being read. */
  async readBody(): Promise<SentBody | undefined> {
    const { formData, json, text } = this.context.req.bodyCache
    try {
      const reading = Promise.resolve(formData ?? json ?? text)
      const read = await Promise.race([reading, Promise.resolve()])
      return sentBody(read, this.request.headers.get('content-type'))
    } catch {
      return undefined
    }
  }
}

/** Hono throws an error of its own after all middleware. */
const withoutResponse = ({ finalized }: HonoContext): Error | undefined =>
  finalized ? undefined : new Error('the handler gave no response')

/**
 * Hono middleware that records requests. Mount it before all middleware whose requests it should record:
 *
 * - a mutating request (any method but GET, HEAD, OPTIONS and TRACE) that succeeds: `api:<controller>:<method>`;
 * - a mutating request with a 4xx response: `error:<controller>:<method>`, with the reason in `error`;
 * - any request with a 5xx response or a thrown error: `error:api:controller:unhandled`.
 *
 * Refusals and failures without a user, and any 401 and 429, are recorded once a minute for each address, type and
 * status; the next of these events has the number of the others in `suppressed_count`.
 *
 * Controller and method come from `routes`, or from the path of the route by the conventions of Rails, including the
 * paths of the apps that it is nested in. Errors are recorded with their message and backtrace, whatever `onError`
 * answers. The body is what `json()`, `text()`, `parseBody()` or `formData()` of Hono's request has read.
 *
 * The event is durable before the response is returned to the server, thus before the first part of a stream. If an
 * event cannot be recorded, the log emits `rejected`, and the response is still returned. Events recorded during the
 * request get its user: see `withActor`.
 *
 * Throws `INVALID_OPTION` for invalid options.
 */
export function recordRequests(
  audit: RecordingAudit,
  options: RecordRequestsOptions = {},
): HonoMiddleware {
  checkOptions(options, RECORD_OPTIONS, 'recordRequests')
  const record = fetchRecorder<HonoContext>(audit, options)
  return async function recordRequests(context, next) {
    let isHandled = false
    const response = await record(new HonoExchange(context, options), async () => {
      await next()
      isHandled = true
      const { error = withoutResponse(context) } = context
      const response = context.finalized ? context.res : undefined
      return { response, ...(error && { thrown: { value: error } }) }
    })
    // Hono has the response already. It would copy the headers of one that is returned again.
    return isHandled ? undefined : response
  }
}
