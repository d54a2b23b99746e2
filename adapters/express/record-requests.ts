import { nodeRecorder } from '../../src/http/node/request-recorder.js'
import type { NodeMiddleware } from '../../src/http/node/node.js'
import {
  type RecordRequests,
  REQUEST_RECORDER_OPTIONS,
  type RequestRecorderOptions,
} from '../../src/http/record/recorder-options.js'
import type { ExpressRequest } from './express.js'
import { followRouterErrors } from './router-errors.js'
import { handlingRoute } from './routes.js'
import { checkOptions } from '../../src/options.js'

export type RecordRequestsOptions = RequestRecorderOptions<ExpressRequest>

/**
 * Middleware of Express that records requests, with the errors that handlers throw or pass to `next`. The address is
 * `request.ip`: set `trust proxy` behind a proxy.
 */
export const recordRequests: RecordRequests<RecordRequestsOptions, NodeMiddleware> = (
  audit,
  options = {},
) => {
  checkOptions(options, REQUEST_RECORDER_OPTIONS, 'recordRequests')
  followRouterErrors()
  return nodeRecorder<ExpressRequest>(audit, options, {
    address: (request) => request.ip ?? '',
    route: handlingRoute,
  })
}
