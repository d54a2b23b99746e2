import { ADDRESS_OPTION, type AddressOption } from '../../src/http/fetch/address.js'
import { RecordedFetchExchange } from '../../src/http/fetch/recorded-exchange.js'
import { fetchRecorder } from '../../src/http/fetch/request-recorder.js'
import { type SentBody, sentBody } from '../../src/http/fetch/sent-body.js'
import type { MatchedRoute, RequestUser } from '../../src/http/record/exchange.js'
import {
  type RecordRequests,
  REQUEST_RECORDER_OPTIONS,
  type RequestRecorderOptions,
} from '../../src/http/record/recorder-options.js'
import { addressOf, foundUser, type HonoContext, type HonoMiddleware } from './hono.js'
import { usernameOf } from '../../src/http/username-option.js'
import { handlingRoute } from './routes.js'
import { checkOptions, type OptionNames } from '../../src/options.js'

export interface RecordRequestsOptions
  extends AddressOption<[context: HonoContext]>, RequestRecorderOptions<HonoContext> {}

const RECORD_OPTIONS: OptionNames<RecordRequestsOptions> = {
  ...REQUEST_RECORDER_OPTIONS,
  ...ADDRESS_OPTION,
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
    return usernameOf(this.context, this.#options, foundUser)
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
 * Hono middleware that records requests. Errors are recorded whatever `onError` answers. The body is what `json()`, `text()`,
 * `parseBody()` or `formData()` of Hono's request has read. The event is durable before the first part of a stream.
 */
export const recordRequests: RecordRequests<RecordRequestsOptions, HonoMiddleware> = (
  audit,
  options = {},
) => {
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
