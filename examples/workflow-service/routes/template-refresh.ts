import type { RouterContext } from '@koa/router'
import { flag, text } from '../attributes.js'
import type { TemplateVersion } from '../model.js'
import type { Service } from '../service.js'
import {
  beginRefresh,
  cancelRefresh,
  refreshVersion,
  verifyRevision,
  versionFacts,
} from '../templates/refresh.js'
import { deferIn, describe, param, readChanges, usernameOf } from './request.js'
import { sendNothing, sendOne } from './respond.js'
import { patch, post, type Route } from './route.js'
import { findOne } from './simple.js'

const MEMBER = '/api/template_versions/:template_version_id'
const REVISION = text({ pattern: /^[A-Za-z0-9_][A-Za-z0-9_./-]*$/, expected: 'a branch' })

/** Changes of template versions, and refreshes of their actions. */
export function templateRefreshRoutes(service: Service): Route[] {
  const { documents } = service
  const versionIn = (ctx: RouterContext): TemplateVersion => {
    const version = findOne(service, 'template_versions', param(ctx, 'template_version_id'))
    describe(ctx, versionFacts(version))
    return version
  }

  return [
    patch(MEMBER, async (ctx) => {
      const { id } = versionIn(ctx)
      const read = { revision: REVISION, follows: flag(false) }
      const changes = readChanges(ctx, 'template_version', read)
      const version = await documents.write((tx) => {
        const changed = { ...findOne(service, 'template_versions', id), ...changes }
        tx.put('template_versions', changed)
        return changed
      })
      const username = usernameOf(ctx)
      if (changes.revision !== undefined)
        deferIn(ctx)(() => verifyRevision(service, version, username))
      sendOne(ctx, 'template_versions', version)
    }),

    post(`${MEMBER}/refresh`, async (ctx) => {
      const version = await beginRefresh(service, versionIn(ctx))
      const username = usernameOf(ctx)
      deferIn(ctx)(() => refreshVersion(service, version, username))
      sendNothing(ctx)
    }),

    post(
      `${MEMBER}/refresh/cancel`,
      async (ctx) => {
        await cancelRefresh(service, versionIn(ctx), usernameOf(ctx))
        sendNothing(ctx)
      },
      'template_versions:cancel_refresh',
    ),
  ]
}
