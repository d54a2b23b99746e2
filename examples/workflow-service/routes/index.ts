import { bodyParser } from '@koa/bodyparser'
import Router, { type RouterContext, type RouterMiddleware } from '@koa/router'
import type { Middleware } from 'koa'
import { list, text } from '../attributes.js'
import { stepDefinition } from '../engine/definitions.js'
import { JSON_API, Problem } from '../problem.js'
import { checkApprovers } from '../ldap/approvers.js'
import type { Service } from '../service.js'
import { activityRoutes } from './activities.js'
import { cleaningRoutes } from './cleaning.js'
import { gitPushRoutes } from './git-pushes.js'
import { ldapRoutes } from './ldap.js'
import { nodeRoutes } from './nodes.js'
import { checkMayChange } from './permission.js'
import { agentRoutes } from './agents.js'
import { assetModelRoutes } from './asset-models.js'
import { authorisationRoutes } from './authorisation.js'
import { changePlan } from './plans.js'
import { projectRoutes } from './projects.js'
import { readAttributes, readNew, usernameOf } from './request.js'
import type { Route } from './route.js'
import { reportRoutes } from './reports.js'
import { retryRoutes } from './retry.js'
import { scheduleRoutes } from './schedules.js'
import { secretRoutes } from './secrets.js'
import { siteRoutes } from './sites.js'
import { findOne, simpleRoutes } from './simple.js'
import { stepRoutes } from './steps.js'
import { templateRefreshRoutes } from './template-refresh.js'
import { templateRoutes } from './templates.js'
import { valuesRoutes } from './values.js'

function routesOf(service: Service): Route[] {
  const { changes, workflowRuns } = service
  return [
    ...projectRoutes(service),
    ...nodeRoutes(service),
    ...simpleRoutes(service, {
      kind: 'bookmarks',
      type: 'bookmark',
      link: 'bookmark_id',
      readers: { name: text(), path: text() },
      removable: true,
    }),
    ...activityRoutes(service, changes, async (ctx) => {
      const plan = readAttributes(ctx, 'change', changePlan)
      await checkApprovers(service, plan.steps, usernameOf(ctx))
      return changes.create(plan)
    }),
    ...stepRoutes(service, changes),
    ...simpleRoutes(service, {
      kind: 'workflows',
      type: 'workflow',
      link: 'workflow_id',
      readers: { name: text(), description: text({ fallback: '' }), steps: list(stepDefinition) },
      removable: false,
      accept: (ctx, { steps = [] }) => checkApprovers(service, steps, usernameOf(ctx)),
    }),
    ...activityRoutes(service, workflowRuns, (ctx) => {
      const { workflow_id } = readNew(ctx, 'workflow_run', { workflow_id: text() })
      const { name, steps } = findOne(service, 'workflows', workflow_id)
      const plan = { name, action: null, project_path: null, node_path: null, steps }
      return workflowRuns.create(plan, workflow_id)
    }),
    ...stepRoutes(service, workflowRuns),
    ...scheduleRoutes(service),
    ...templateRoutes(service),
    ...valuesRoutes(service),
    ...authorisationRoutes(service),
    ...secretRoutes(service),
    ...siteRoutes(service),
    ...ldapRoutes(service),
    ...agentRoutes(service),
    ...retryRoutes(service),
    ...reportRoutes(service),
    ...templateRefreshRoutes(service),
    ...assetModelRoutes(service),
    ...cleaningRoutes(service),
    ...gitPushRoutes(service),
  ]
}

const refuseOtherTypes = async (ctx: RouterContext, next: () => Promise<unknown>) => {
  if (ctx.request.length !== 0 && ctx.is(JSON_API, 'application/json') === false)
    throw new Problem(415, 'UNSUPPORTED_MEDIA_TYPE', `the body must be ${JSON_API}`)
  await next()
}

const readBody = bodyParser({
  enableTypes: ['json'],
  onError: (error) => {
    const { status } = error as { status?: number }
    if (status === 413) throw new Problem(413, 'BODY_TOO_LARGE', 'the body is too large')
    throw new Problem(400, 'MALFORMED_DOCUMENT', `the body is not JSON: ${error.message}`)
  },
}) as RouterMiddleware

const checkPermission =
  ({ documents }: Service) =>
  async (ctx: RouterContext, next: () => Promise<unknown>): Promise<void> => {
    if (ctx.method !== 'GET' && ctx.method !== 'HEAD') checkMayChange(documents, ctx)
    await next()
  }

/**
 * Koa middleware for the API. Bodies are read and permissions checked after routing, so that events of
 * refused requests also get the name of their route.
 */
export function apiRoutes(service: Service): Middleware[] {
  const router = new Router()
  for (const { method, path, handler, name, checksPermission } of routesOf(service)) {
    const before = checksPermission
      ? [refuseOtherTypes, readBody]
      : [checkPermission(service), refuseOtherTypes, readBody]
    router.register(path, [method], [...before, handler], name === undefined ? {} : { name })
  }
  return [router.routes() as Middleware, router.allowedMethods() as Middleware]
}
