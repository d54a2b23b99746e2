import type Router from '@koa/router'
import { assertCoverage } from 'daybook/koa'
import { it } from 'vitest'
import { CHANGES, WORKFLOW_RUNS } from '../../examples/workflow-service/engine/names.js'
import { serviceEventTypes } from '../../examples/workflow-service/event-types.js'
import { apiRoutes } from '../../examples/workflow-service/routes/index.js'
import type { Service } from '../../examples/workflow-service/service.js'

/** The parts of the service that `apiRoutes` reads before the first request. */
const service = {
  changes: { context: { names: CHANGES } },
  workflowRuns: { context: { names: WORKFLOW_RUNS } },
} as Service

const typesOf = (subject: string, ...actions: readonly string[]): string[] =>
  actions.map((action) => `api:${subject}:${action}`)

/** Types that background work records, not requests. */
const WORK = [
  ...['changes', 'workflow_runs'].flatMap((subject) => typesOf(subject, 'success', 'error')),
  ...['steps', 'workflow_steps'].flatMap((subject) =>
    typesOf(subject, 'start', 'success', 'error', 'abort'),
  ),
  ...typesOf('scheduled_changes', 'change_creation:create', 'change_creation:success'),
  ...typesOf(
    'scheduled_workflows',
    'workflow_run_creation:create',
    'workflow_run_creation:success',
  ),
  ...typesOf('agent', 'started', 'stopped'),
  ...typesOf('changes', 'retry_settings_pruned'),
  ...typesOf('action_refresh', 'warn'),
  ...typesOf('ldap_refresh', 'user_start', 'group_start', 'success', 'warn', 'error'),
  ...[
    'assign_system_error_job',
    'change_listener',
    'event_filter',
    'event_processor',
    'event_subscriber',
    'job',
    'notification',
    'resource_slot_freed_listener',
  ].flatMap((subject) => typesOf(subject, 'error')),
]

it('every route of the demo has an event type, and every type a route', () => {
  const [routes] = apiRoutes(service) as unknown as readonly { router: Router }[]
  assertCoverage(routes!.router, serviceEventTypes, { except: WORK })
})
