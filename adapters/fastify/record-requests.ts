import { nodeRecorder } from '../../src/http/node/request-recorder.js'
import { noteThrown } from '../../src/http/node/thrown.js'
import type { RequestUser } from '../../src/http/record/exchange.js'
import {
  type RecordingAudit,
  REQUEST_RECORDER_OPTIONS,
  type RequestRecorderOptions,
} from '../../src/http/record/recorder.js'
import { continueAsActor, keepActor } from './actor.js'
import { noteRoutes } from './coverage.js'
import { bodyOf, filesOf, noteParts } from './multipart.js'
import { type UsernameOption, usernameOf } from '../../src/http/username-option.js'
import { type FastifyPlugin, type FastifyRequest, sharedPlugin } from './fastify.js'
import { checkOptions, type OptionNames } from '../../src/options.js'

export interface RecordRequestsOptions
  extends UsernameOption<FastifyRequest, RequestUser>, RequestRecorderOptions<FastifyRequest> {}

const RECORD_OPTIONS: OptionNames<RecordRequestsOptions> = {
  ...REQUEST_RECORDER_OPTIONS,
  username: true,
}

/**
 * Fastify plugin that records requests. Register it first:
 *
 * - a mutating request (any method but GET, HEAD, OPTIONS and TRACE) that succeeds: `api:<controller>:<method>`;
 * - a mutating request with a 4xx response: `error:<controller>:<method>`, with the reason in `error`;
 * - any request with a 5xx response: `error:api:controller:unhandled`.
 *
 * Refusals and failures without a user, and any 401 and 429, are recorded once a minute for each address, type and
 * status; the next of these events has the number of the others in `suppressed_count`.
 *
 * Controller and method come from `routes`, or from the path of the route by the conventions of Rails. Errors
 * are recorded with their message and backtrace. The address is `request.ip`: set `trustProxy` behind a proxy.
 *
 * The event is durable before the response ends, and it has the status of the response. If an event
 * cannot be recorded, the log emits `rejected`, and the response is still sent. The response is never changed.
 * Events recorded during the request get its user: see `withActor`.
 *
 * Throws `INVALID_OPTION` for invalid options.
 */
export function recordRequests(
  audit: RecordingAudit,
  options: RecordRequestsOptions = {},
): FastifyPlugin {
  checkOptions(options, RECORD_OPTIONS, 'recordRequests')
  const record = nodeRecorder<FastifyRequest>(audit, options, {
    username: (request) => usernameOf(request, options),
    address: ({ ip }) => ip ?? '',
    body: bodyOf,
    files: filesOf,
    route: ({ routeOptions: { url }, params }) =>
      url === undefined ? undefined : { path: url, params: Object(params) as object },
  })
  return sharedPlugin('daybook-record-requests', (app) => {
    noteRoutes(app)
    app.addHook('onRequest', (request, reply, done) => {
      noteParts(request)
      record(request, reply.raw, () => {
        keepActor(request)
        done()
      })
    })
    app.addHook('preValidation', continueAsActor)
    app.addHook('onError', (request, _reply, error, done) => {
      noteThrown(request, error)
      done()
    })
  })
}
