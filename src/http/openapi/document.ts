import { type EventsRoute, eventsRoutes } from '../events/routes.js'
import type { EventsSetting } from '../events/handler.js'
import { JSON_API } from '../problem.js'
import { answers } from './answers.js'
import { parameters } from './parameters.js'
import { COMMON_PROBLEMS, problemAnswer, problemName } from './problems.js'
import { componentSchemas } from './schemas.js'

const OPERATIONS: Readonly<Record<EventsRoute['action'], string>> = {
  list: 'listEvents',
  create: 'createEvent',
  stream: 'followEvents',
  count: 'countEvents',
  export: 'exportEvents',
  types: 'listEventTypes',
  me: 'readUser',
  describe: 'describeEvents',
  read: 'readEvent',
}

const ref = (kind: string, name: string) => ({ $ref: `#/components/${kind}/${name}` }) as const

const newEvent = ({ maxBytes, maxDepth }: EventsSetting['audit']['limits']) => ({
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

function operation(route: EventsRoute, { audit }: EventsSetting): object {
  const { action, summary, description, method } = route
  const problems = [...route.problems, ...COMMON_PROBLEMS].map((status) => [
    status,
    ref('responses', problemName(status)),
  ])
  return {
    operationId: OPERATIONS[action],
    summary,
    description,
    parameters: route.parameters.map((name) => ref('parameters', name)),
    ...(method === 'POST' && { requestBody: newEvent(audit.limits) }),
    responses: {
      ...Object.fromEntries(
        Object.entries(route.answers).map(([status, name]) => [status, ref('responses', name)]),
      ),
      ...Object.fromEntries(problems),
    },
  }
}

/** Of a path that is there whatever the method, and of a method that it does not take. */
const EVERYWHERE = [404, 405] as const

/**
 * The OpenAPI 3.1 document of the events endpoints as they are mounted: made of the table of routes,
 * the registry of event types, the predicates, the link attributes and the error codes.
 */
export function openApiDocument(setting: EventsSetting): object {
  const paths: Record<string, Record<string, object>> = {}
  const statuses = new Set<number>([...COMMON_PROBLEMS, ...EVERYWHERE])
  for (const route of eventsRoutes) {
    const item = (paths[setting.path + route.path] ??= {})
    item[route.method.toLowerCase()] = operation(route, setting)
    for (const status of route.problems) statuses.add(status)
  }
  const problems = [...statuses].map((status) => [problemName(status), problemAnswer(status)])
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
      schemas: componentSchemas(setting.audit.types),
      parameters,
      responses: { ...answers, ...Object.fromEntries(problems) },
      securitySchemes: {
        basic: { type: 'http', scheme: 'basic', description: 'User name and password (RFC 7617).' },
      },
    },
  }
}
