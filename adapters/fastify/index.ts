export { basicAuth } from './basic-auth.js'
export { assertCoverage } from './coverage.js'
export type {
  FastifyApp,
  FastifyHandler,
  FastifyPlugin,
  FastifyReply,
  FastifyRequest,
} from './fastify.js'
export * from './mounts.js'
export { recordRequests, type RecordRequestsOptions } from './record-requests.js'
export type { BasicAuthOptions } from '../../src/http/basic-auth.js'
export type * from '../../src/http/mounting/shared-types.js'
export { recordError } from '../../src/http/node/thrown.js'
