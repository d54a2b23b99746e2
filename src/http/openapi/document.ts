import type { EventTypes } from '../../event/event-types.js'
import type { JsonLimits } from '../../event/json.js'
import { JSON_API } from '../problem.js'
import { type ResponseName, responses } from './responses.js'
import { COMMON_PROBLEMS, problemResponseObject, problemName } from './problems.js'
import { componentSchemas } from './schemas.js'

/** One endpoint, as the document describes it. */
export interface DescribedRoute {
  readonly operationId: string
  readonly method: 'GET' | 'POST'
  /** Relative to the mount path. */
  readonly path: string
  readonly summary: string
  readonly description: string
  /** Names of the endpoint's entries in {@link ApiDescription.parameters}. */
  readonly parameters: readonly string[]
  readonly answers: Readonly<Record<number, ResponseName>>
  /** Statuses of its errors, beside those that every endpoint has. */
  readonly problems: readonly number[]
}

/** What the document is made of. */
export interface ApiDescription {
  /** The mount path. */
  readonly path: string
  readonly routes: readonly DescribedRoute[]
  /** OpenAPI 3.1, "Parameter Object", by the names that routes use. */
  readonly parameters: Readonly<Record<string, object>>
  /** Actions that a user may be allowed. */
  readonly actions: readonly string[]
  readonly types: EventTypes
  readonly limits: JsonLimits
}

const ref = (kind: string, name: string) => ({ $ref: `#/components/${kind}/${name}` }) as const

const newEvent = ({ maxBytes, maxDepth }: JsonLimits) => ({
  required: true,
  description: `At most ${maxBytes} bytes, nested ${maxDepth} deep.`,
  content: {
    [JSON_API]: {
      schema: ref('schemas', 'NewEventDocument'),
      example: {
        data: {
          type: 'Event',
          attributes: { type: 'deploy:note', text: 'went well', project_path: '/projects/shop' },
        },
      },
    },
  },
})

function operation(route: DescribedRoute, limits: JsonLimits): object {
  const { operationId, summary, description, method } = route
  const problems = [...route.problems, ...COMMON_PROBLEMS].map((status) => [
    status,
    ref('responses', problemName(status)),
  ])
  return {
    operationId,
    summary,
    description,
    parameters: route.parameters.map((name) => ref('parameters', name)),
    ...(method === 'POST' && { requestBody: newEvent(limits) }),
    responses: {
      ...Object.fromEntries(
        Object.entries(route.answers).map(([status, name]) => [status, ref('responses', name)]),
      ),
      ...Object.fromEntries(problems),
    },
  }
}

/** Any path may be unknown, and any method may be one that a path does not take. */
const EVERYWHERE = [404, 405] as const

/**
 * The OpenAPI 3.1 document of the events endpoints as they are mounted. It is made from the table of
 * routes, the registry of event types, the predicates, the link attributes and the error codes.
 */
export function openApiDocument(api: ApiDescription): object {
  const paths: Record<string, Record<string, object>> = {}
  const statuses = new Set<number>([...COMMON_PROBLEMS, ...EVERYWHERE])
  for (const route of api.routes) {
    const item = (paths[api.path + route.path] ??= {})
    item[route.method.toLowerCase()] = operation(route, api.limits)
    for (const status of route.problems) statuses.add(status)
  }
  const problems = [...statuses].map((status) => [
    problemName(status),
    problemResponseObject(status),
  ])
  return {
    openapi: '3.1.0',
    info: {
      title: 'Audit events',
      // Of the interface that is described; it changes when clients have to.
      version: '1',
      description:
        'What has happened in the service, as JSON:API 1.1. `HEAD` goes wherever `GET` does. A method ' +
        'that a path does not take is answered 405, with those that it takes in `Allow`.',
    },
    security: [{ basic: [] }],
    paths,
    components: {
      schemas: componentSchemas(api.types, api.actions),
      parameters: api.parameters,
      responses: { ...responses, ...Object.fromEntries(problems) },
      securitySchemes: {
        basic: { type: 'http', scheme: 'basic', description: 'User name and password (RFC 7617).' },
      },
    },
  }
}
