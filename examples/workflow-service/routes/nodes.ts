import { randomUUID } from 'node:crypto'
import type { RouterContext } from '@koa/router'
import { code, text } from '../attributes.js'
import type { Documents } from '../documents/documents.js'
import type { Node, NodeType } from '../model.js'
import { endOf, findNode, parentPathOf, pathExists, projectPathOf } from '../paths.js'
import { notFound } from '../problem.js'
import type { Service } from '../service.js'
import { conflict } from './projects.js'
import { listOf } from './lists.js'
import { describe, param, readChanges, readNew } from './request.js'
import { sendCreated, sendNothing, sendOne } from './respond.js'
import { del, get, patch, post, type Route } from './route.js'

const CHANGEABLE = {
  name: text(),
  description: text({ empty: true }),
  template_version_id: text(),
}
const NEW = {
  code,
  name: text({ fallback: '' }),
  description: text({ fallback: '' }),
}

const ENVIRONMENTS = '/api/projects/:project_code/environments'
const ASSETS = `${ENVIRONMENTS}/:environment_code/assets`

/** The path of the requested node or collection: the pattern of the route with its parameters. */
function pathIn(ctx: RouterContext, pattern: string): string {
  const path = pattern.replaceAll(/:(\w+)/g, (_, name: string) => param(ctx, name))
  return path.replace(/^\/api/, '')
}

function describeNode(ctx: RouterContext, { name, node_path }: Node): void {
  const project_path = projectPathOf(node_path)
  describe(ctx, { name, parent: endOf(parentPathOf(node_path)), project_path, node_path })
}

/** The path of the requested collection. Throws a 404 where its project or environment does not exist. */
function collectionIn(documents: Documents, ctx: RouterContext, pattern: string): string {
  const path = pathIn(ctx, pattern)
  const parent = path.replace(/\/\w+$/, '')
  if (!pathExists(documents, parent)) throw notFound(parent)
  return path
}

function routesOf(service: Service, type: NodeType, collection: string): Route[] {
  const { documents } = service
  const member = `${collection}/:${type}_code`

  const nodeIn = (ctx: RouterContext): Node => {
    const path = pathIn(ctx, member)
    const node = findNode(documents, path)
    if (!node) throw notFound(`${type} ${path}`)
    return node
  }

  return [
    get(
      collection,
      listOf('nodes', (ctx) => {
        const prefix = `${collectionIn(documents, ctx, collection)}/`
        return documents
          .all('nodes')
          .filter(({ node_type, node_path }) => node_type === type && node_path.startsWith(prefix))
      }),
    ),

    post(
      collection,
      async (ctx) => {
        const path = collectionIn(documents, ctx, collection)
        const attributes = readNew(ctx, type, NEW)
        const { code } = attributes
        const node_path = `${path}/${code}`
        const name = attributes.name || code
        const node: Node = { id: randomUUID(), node_type: type, ...attributes, name, node_path }
        await documents.write((tx) => {
          collectionIn(documents, ctx, collection)
          if (findNode(documents, node_path)) throw conflict(`an ${type} ${node_path}`)
          tx.put('nodes', node)
        })
        describeNode(ctx, node)
        sendCreated(ctx, 'nodes', node)
      },
      'nodes:create',
    ),

    get(member, (ctx) => sendOne(ctx, 'nodes', nodeIn(ctx))),

    patch(
      member,
      async (ctx) => {
        describeNode(ctx, nodeIn(ctx))
        const changes = readChanges(ctx, type, CHANGEABLE)
        const node = await documents.write((tx) => {
          const changed = { ...nodeIn(ctx), ...changes }
          tx.put('nodes', changed)
          return changed
        })
        describeNode(ctx, node)
        sendOne(ctx, 'nodes', node)
      },
      'nodes:update',
    ),

    del(
      member,
      async (ctx) => {
        describeNode(ctx, nodeIn(ctx))
        await documents.write((tx) => {
          const node = nodeIn(ctx)
          for (const { id, node_path } of documents.all('nodes'))
            if (`${node_path}/`.startsWith(`${node.node_path}/`)) tx.remove('nodes', id)
        })
        sendNothing(ctx)
      },
      'nodes:destroy',
    ),
  ]
}

export const nodeRoutes = (service: Service): Route[] => [
  ...routesOf(service, 'environment', ENVIRONMENTS),
  ...routesOf(service, 'asset', ASSETS),
]
