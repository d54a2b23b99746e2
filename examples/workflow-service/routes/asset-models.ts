import type { RouterContext } from '@koa/router'
import { assetFacts, concretise, generateActions } from '../assets/models.js'
import { text } from '../attributes.js'
import type { Node } from '../model.js'
import { findNode } from '../paths.js'
import { notFound } from '../problem.js'
import type { Service } from '../service.js'
import { deferIn, describe, param, readNew, usernameOf } from './request.js'
import { sendNothing } from './respond.js'
import { post, type Route } from './route.js'

const ASSET = '/api/projects/:project_code/environments/:environment_code/assets/:asset_code'

function assetIn({ documents }: Service, ctx: RouterContext): Node {
  const path = ASSET.replaceAll(/:(\w+)/g, (_, name: string) => param(ctx, name)).slice(4)
  const asset = findNode(documents, path)
  if (!asset) throw notFound(path)
  describe(ctx, assetFacts(asset))
  return asset
}

export const assetModelRoutes = (service: Service): Route[] => [
  post(
    `${ASSET}/generate_actions`,
    (ctx) => {
      const asset = assetIn(service, ctx)
      const read = { trigger: text({ fallback: 'user' }) }
      const { trigger } = readNew(ctx, 'generate_actions_request', read)
      describe(ctx, { trigger })
      const username = usernameOf(ctx)
      deferIn(ctx)(() => generateActions(service, asset, username))
      sendNothing(ctx)
    },
    'generate_actions_request:create',
  ),

  post(
    `${ASSET}/concretise`,
    (ctx) => {
      const asset = assetIn(service, ctx)
      const { model } = readNew(ctx, 'asset_model', { model: text() })
      const username = usernameOf(ctx)
      deferIn(ctx)(() => concretise(service, asset, model, username))
      sendNothing(ctx)
    },
    'asset_models:concretise',
  ),
]
