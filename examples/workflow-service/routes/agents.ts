import { randomUUID } from 'node:crypto'
import type { RouterContext } from '@koa/router'
import { agentFacts } from '../agents/agents.js'
import { code, list, optional, text } from '../attributes.js'
import type { Image, Node } from '../model.js'
import { findNode } from '../paths.js'
import { notFound } from '../problem.js'
import type { Service } from '../service.js'
import { conflict } from './projects.js'
import { listOf } from './lists.js'
import { deferIn, describe, param, readNew, usernameOf } from './request.js'
import { sendCreated, sendNothing, sendOne } from './respond.js'
import { del, get, post, type Route } from './route.js'
import { existing, findOne } from './simple.js'

const AGENTS = '/api/projects/:project_code/environments/:environment_code/agents'
const AGENT = `${AGENTS}/:agent_code`

/** Images are built from recipes: a context directory on this machine, and instructions. */
const imageRoutes = (service: Service): Route[] => [
  get(
    '/api/images',
    listOf('images', () => service.documents.all('images')),
  ),

  post('/api/images', async (ctx) => {
    const read = { name: text(), context: optional(text()), instructions: list(text()) }
    const created_at = new Date().toISOString()
    const image: Image = { id: randomUUID(), ...readNew(ctx, 'image', read), key: null, created_at }
    await service.documents.write((tx) => tx.put('images', image))
    describe(ctx, { name: image.name })
    sendCreated(ctx, 'images', image)
  }),

  get('/api/images/:image_id', (ctx) =>
    sendOne(ctx, 'images', findOne(service, 'images', param(ctx, 'image_id'))),
  ),

  post('/api/images/:image_id/build', (ctx) => {
    const image = findOne(service, 'images', param(ctx, 'image_id'))
    describe(ctx, { name: image.name })
    // An event has recorded a failed build.
    deferIn(ctx)(() => service.images.build(image).catch(() => {}))
    sendNothing(ctx)
  }),
]

export function agentRoutes(service: Service): Route[] {
  const { documents, agents } = service
  const pathOf = (ctx: RouterContext): string =>
    `/projects/${param(ctx, 'project_code')}/environments/${param(ctx, 'environment_code')}`

  const agentIn = (ctx: RouterContext): Node => {
    const path = `${pathOf(ctx)}/agents/${param(ctx, 'agent_code')}`
    const agent = findNode(documents, path)
    if (!agent) throw notFound(path)
    describe(ctx, agentFacts(agent))
    return agent
  }

  return [
    ...imageRoutes(service),

    post(
      AGENTS,
      async (ctx) => {
        const read = { code, image_id: existing(service, 'images') }
        const given = readNew(ctx, 'agent', read)
        const path = pathOf(ctx)
        const node_path = `${path}/agents/${given.code}`
        const name = given.code
        const agent: Node = {
          ...{ id: randomUUID(), node_type: 'agent', name, description: '', node_path },
          ...given,
        }
        await documents.write((tx) => {
          if (!findNode(documents, path)) throw notFound(path)
          if (findNode(documents, node_path)) throw conflict(`an agent ${node_path}`)
          tx.put('nodes', agent)
        })
        describe(ctx, agentFacts(agent))
        sendCreated(ctx, 'nodes', agent)
      },
      'nodes:create',
    ),

    get(AGENT, (ctx) => sendOne(ctx, 'nodes', agentIn(ctx))),

    del(
      AGENT,
      async (ctx) => {
        const { id } = agentIn(ctx)
        await documents.write((tx) => tx.remove('nodes', id))
        sendNothing(ctx)
      },
      'nodes:destroy',
    ),

    ...(['start', 'stop'] as const).map((action) =>
      post(
        `${AGENT}/${action}`,
        (ctx) => {
          const agent = agentIn(ctx)
          const username = usernameOf(ctx)
          deferIn(ctx)(() => agents[action](agent, username))
          sendNothing(ctx)
        },
        `agent:${action}`,
      ),
    ),
  ]
}
