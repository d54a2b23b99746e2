import { toResponse } from 'h3'
import { ADDRESS_OPTION } from '../../../src/http/fetch/address.js'
import { PlainExchange } from '../../../src/http/fetch/plain-exchange.js'
import { fetchRecorder } from '../../../src/http/fetch/request-recorder.js'
import {
  type RecordRequests,
  REQUEST_RECORDER_OPTIONS,
  type RequestRecorderOptions,
} from '../../../src/http/record/recorder-options.js'
import { usernameOf } from '../../../src/http/username-option.js'
import { checkOptions } from '../../../src/options.js'
import { addressOf, foundUser, type H3Address, type H3Event, type H3Middleware } from './h3.js'

export type RecordRequestsOptions = H3Address & RequestRecorderOptions<H3Event>

const OPTIONS = { ...REQUEST_RECORDER_OPTIONS, ...ADDRESS_OPTION }

/** Middleware of h3 that records requests. The address is the option `address`, or `event.req.ip`. */
export const recordRequests: RecordRequests<RecordRequestsOptions, H3Middleware> = (
  audit,
  options = {},
) => {
  checkOptions(options, OPTIONS, 'recordRequests')
  const record = fetchRecorder<H3Event>(audit, options)
  return async (event, next) => {
    const { req, context } = event
    const exchange = new PlainExchange(event, req, {
      address: () => addressOf(options, event),
      username: () => usernameOf(event, options, foundUser),
      route: () => {
        const path = context.matchedRoute?.route
        return path === undefined ? undefined : { path, params: { ...context.params } }
      },
    })
    return record(exchange, async () => ({
      response: await toResponse(await next(), event as never),
    }))
  }
}
