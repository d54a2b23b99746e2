import { nodeRecorder } from '../../src/http/node/request-recorder.js'
import { noteThrown } from '../../src/http/node/thrown.js'
import {
  type RecordRequests,
  REQUEST_RECORDER_OPTIONS,
  type RequestRecorderOptions,
} from '../../src/http/record/recorder-options.js'
import { continueAsActor, keepActor } from './actor.js'
import { noteRoutes } from './coverage.js'
import { bodyOf, filesOf, noteParts } from './multipart.js'
import { type FastifyPlugin, type FastifyRequest, sharedPlugin } from './fastify.js'
import { checkOptions } from '../../src/options.js'

export type RecordRequestsOptions = RequestRecorderOptions<FastifyRequest>

/**
 * Fastify plugin that records requests. Register it first. The address is `request.ip`: set `trustProxy` behind a proxy.
 */
export const recordRequests: RecordRequests<RecordRequestsOptions, FastifyPlugin> = (
  audit,
  options = {},
) => {
  checkOptions(options, REQUEST_RECORDER_OPTIONS, 'recordRequests')
  const record = nodeRecorder<FastifyRequest>(audit, options, {
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
