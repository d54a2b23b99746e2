export { basicAuth, type BasicAuthOptions } from './basic-auth.js'
export type { FetchHandler, FetchMiddleware, FetchMount, FetchRequest } from './fetch.js'
export * from './mounts.js'
export {
  recordRequests,
  type RecordHandler,
  type RecordRequestsOptions,
} from './record-requests.js'
export type * from '../../src/http/mounting/shared-types.js'
export { assertCoverage } from '../../src/http/record/listed-routes.js'
