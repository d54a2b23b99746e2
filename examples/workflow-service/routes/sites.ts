import { text } from '../attributes.js'
import type { Site } from '../model.js'
import type { Service } from '../service.js'
import { listOf } from './lists.js'
import { deferIn, describe, param, readNew, usernameOf } from './request.js'
import { sendOne } from './respond.js'
import { get, post, type Route } from './route.js'
import { findOne } from './simple.js'
import type { RouterContext } from '@koa/router'

/** A cordoned site starts no new work. */
export function siteRoutes(service: Service): Route[] {
  const { documents, note } = service

  const cordon = async (ctx: RouterContext, given: Partial<Site>): Promise<Site> => {
    const id = param(ctx, 'site_id')
    const site = await documents.write((tx) => {
      const changed = { ...findOne(service, 'sites', id), ...given }
      tx.put('sites', changed)
      return changed
    })
    describe(ctx, { name: site.name })
    sendOne(ctx, 'sites', site)
    return site
  }

  return [
    get(
      '/api/sites',
      listOf('sites', () => documents.all('sites')),
    ),

    post('/api/sites/:site_id/cordon', async (ctx) => {
      const { reason } = readNew(ctx, 'site', { reason: text() })
      const cordoned_by = usernameOf(ctx)
      const { name } = await cordon(ctx, { cordoned_by, cordon_reason: reason })
      const facts = { cluster_name: name, cordon_reason: reason, cordoned_by }
      deferIn(ctx)(() => note('info:site:cordoned', facts, cordoned_by))
    }),

    post('/api/sites/:site_id/uncordon', async (ctx) => {
      const { name } = await cordon(ctx, { cordoned_by: null, cordon_reason: null })
      const username = usernameOf(ctx)
      deferIn(ctx)(() => note('info:site:uncordoned', { cluster_name: name }, username))
    }),
  ]
}
