import { flag, scalars } from '../attributes.js'
import type { Values } from '../model.js'
import { notFound } from '../problem.js'
import type { Service } from '../service.js'
import { currentValues, putValues, type ValuesKind } from '../values.js'
import { listOf } from './lists.js'
import { describe, deferIn, param, readAttributes, usernameOf } from './request.js'
import { sendOne } from './respond.js'
import { get, patch, type Route } from './route.js'
import { findOne } from './simple.js'

const LINKS = {
  settings: { values: 'settings_id', version: 'settings_version_id' },
  properties: { values: 'properties_id', version: 'properties_version_id' },
} as const

const maintenance = ({ values }: Values): boolean => values['maintenance_mode'] === true

/** Routes of settings or properties: the current values and their versions. */
function routesOf(service: Service, kind: ValuesKind): Route[] {
  const { documents, note } = service
  const links = LINKS[kind]
  const versions = `${kind}_versions` as const

  return [
    get(`/api/${kind}`, (ctx) => sendOne(ctx, kind, currentValues(documents, kind))),

    // The target of links in events.
    get(`/api/${kind}/:${links.values}`, (ctx) => {
      const values = documents.get(kind, param(ctx, links.values))
      if (!values) throw notFound(kind)
      sendOne(ctx, kind, values)
    }),

    patch(`/api/${kind}`, async (ctx) => {
      const changes = readAttributes(ctx, kind, scalars)
      if (kind === 'settings')
        flag(false)(changes['maintenance_mode'], '/data/attributes/maintenance_mode')
      const { before, after, version } = await documents.write((tx) => {
        const before = currentValues(documents, kind)
        const after = { id: before.id, values: { ...before.values, ...changes } }
        return { before, after, version: putValues(documents, tx, kind, after) }
      })
      const facts = { [links.values]: after.id, [links.version]: version.id }
      describe(ctx, facts)
      if (kind === 'settings' && maintenance(before) !== maintenance(after)) {
        const type = maintenance(after)
          ? 'info:maintenance_mode:enabled'
          : 'info:maintenance_mode:disabled'
        deferIn(ctx)(() => note(type, facts, usernameOf(ctx)))
      }
      sendOne(ctx, kind, after)
    }),

    get(
      `/api/${versions}`,
      listOf(versions, () => documents.all(versions)),
    ),

    get(`/api/${versions}/:${links.version}`, (ctx) =>
      sendOne(ctx, versions, findOne(service, versions, param(ctx, links.version))),
    ),
  ]
}

export const valuesRoutes = (service: Service): Route[] => [
  ...routesOf(service, 'settings'),
  ...routesOf(service, 'properties'),
]
