import { randomUUID } from 'node:crypto'
import type { RouterContext } from '@koa/router'
import { type Reader, text } from '../attributes.js'
import type { Kinds } from '../model.js'
import { invalid, notFound } from '../problem.js'
import type { ResourceKind } from '../resources.js'
import type { Service } from '../service.js'
import { listOf } from './lists.js'
import { describe, param, readChanges, readNew } from './request.js'
import { sendCreated, sendNothing, sendOne } from './respond.js'
import { del, get, patch, post, type Route } from './route.js'

/** Kinds without states and decisions. */
type SimpleKind =
  | 'bookmarks'
  | 'workflows'
  | 'templates'
  | 'git_remotes'
  | 'authorisation_policies'
  | 'authorisation_rules'
  | 'policy_rules'
  | 'policy_assignments'

interface Simple<K extends SimpleKind> {
  readonly kind: K
  /** The resource type of request documents. */
  readonly type: string
  /** The attribute with its id in events. */
  readonly link: `${string}_id`
  readonly readers: { readonly [P in Exclude<keyof Kinds[K], 'id'>]: Reader<Kinds[K][P]> }
  readonly removable: boolean
  /** @default true */
  readonly changeable?: boolean
  /** Called after a document was created or updated. */
  readonly afterwards?: (
    ctx: RouterContext,
    document: Kinds[K],
    occasion: 'create' | 'update',
  ) => void
  /** Called before a document is stored; throws if it is not acceptable. */
  readonly accept?: (ctx: RouterContext, document: Partial<Kinds[K]>) => Promise<void>
  /** Called first; throws if the kind is not available. */
  readonly check?: () => void
}

export const findOne = <K extends ResourceKind>(
  { documents }: Service,
  kind: K,
  id: string,
): Kinds[K] => {
  const found = documents.get(kind, id)
  if (!found) throw notFound(`${kind}/${id}`)
  return found
}

/** Reads the id of an existing document. */
export const existing =
  ({ documents }: Service, kind: ResourceKind): Reader<string> =>
  (value, pointer) => {
    const id = text()(value, pointer)
    if (!documents.get(kind, id)) throw invalid(`${kind}/${id} does not exist`, pointer)
    return id
  }

/** Routes to list, create, show, update and, if `removable`, delete documents. */
export function simpleRoutes<K extends SimpleKind>(service: Service, options: Simple<K>): Route[] {
  const {
    kind,
    type,
    link,
    readers,
    removable,
    changeable = true,
    afterwards,
    accept,
    check,
  } = options
  const { documents } = service
  const member = `/api/${kind}/:${type}_id`

  const about = (ctx: RouterContext, document: Kinds[K]): void => {
    const name = 'name' in document ? document.name : undefined
    describe(ctx, { name, [link]: document.id })
  }
  const oneIn = (ctx: RouterContext): Kinds[K] => findOne(service, kind, param(ctx, `${type}_id`))

  const update = patch(member, async (ctx) => {
    check?.()
    about(ctx, oneIn(ctx))
    const changes = readChanges(ctx, type, readers)
    await accept?.(ctx, changes as Partial<Kinds[K]>)
    const document = await documents.write((tx) => {
      const changed = { ...oneIn(ctx), ...changes } as Kinds[K]
      tx.put(kind, changed)
      return changed
    })
    about(ctx, document)
    afterwards?.(ctx, document, 'update')
    sendOne(ctx, kind, document)
  })
  const destroy = del(member, async (ctx) => {
    const document = oneIn(ctx)
    about(ctx, document)
    await documents.write((tx) => tx.remove(kind, document.id))
    sendNothing(ctx)
  })

  return [
    get(
      `/api/${kind}`,
      listOf(kind, () => documents.all(kind)),
    ),

    post(`/api/${kind}`, async (ctx) => {
      check?.()
      const document = { id: randomUUID(), ...readNew(ctx, type, readers) } as Kinds[K]
      await accept?.(ctx, document)
      await documents.write((tx) => tx.put(kind, document))
      about(ctx, document)
      afterwards?.(ctx, document, 'create')
      sendCreated(ctx, kind, document)
    }),

    get(member, (ctx) => sendOne(ctx, kind, oneIn(ctx))),

    ...(changeable ? [update] : []),
    ...(removable ? [destroy] : []),
  ]
}
