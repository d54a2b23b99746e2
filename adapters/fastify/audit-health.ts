import type { HttpResponse } from '../../src/http/exchange.js'
import {
  type HealthAudit,
  healthEndpoint,
  type HealthEndpointOptions,
} from '../../src/http/health.js'
import { answerOwn } from '../../src/http/record/own-request.js'
import { thrownError } from '../../src/http/thrown-error.js'
import { sendAnswer, toRequest } from './exchange.js'
import {
  type FastifyPlugin,
  type FastifyReply,
  type FastifyRequest,
  sharedPlugin,
} from './fastify.js'

export type AuditHealthOptions = HealthEndpointOptions<FastifyRequest>

/**
 * Fastify plugin for probes, such as those of Kubernetes: `GET /health/live` responds 200 as long as the
 * process serves requests, `GET /health/ready` responds 503 while the log cannot record or be read, else 200.
 * It answers in the hook `onRequest`: register it on the app itself, before authentication. Requests to it
 * are not recorded.
 */
export function auditHealth(audit: HealthAudit, options: AuditHealthOptions = {}): FastifyPlugin {
  const endpoint = healthEndpoint(audit, options)

  const answer = async (
    request: FastifyRequest,
    reply: FastifyReply,
    done: (error?: Error) => void,
  ): Promise<void> => {
    let response: HttpResponse | undefined
    try {
      const answer = endpoint(toRequest(request, reply, () => null))
      response = answer && (await answerOwn(request, answer))
    } catch (error) {
      return done(thrownError(error))
    }
    if (!response) return done()
    return sendAnswer(request, reply, response)
  }

  return sharedPlugin('daybook-audit-health', (app) => {
    app.addHook('onRequest', (request, reply, done) => {
      void answer(request, reply, done)
    })
  })
}
