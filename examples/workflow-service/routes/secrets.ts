import { randomUUID } from 'node:crypto'
import { text } from '../attributes.js'
import type { Service } from '../service.js'
import { describe, param, readNew } from './request.js'
import { sendCreated, sendJson } from './respond.js'
import { post, type Route } from './route.js'
import { findOne } from './simple.js'

/** Secrets are stored encrypted. The request's attribute is called `secret`, so the log redacts it. */
export const secretRoutes = (service: Service): Route[] => [
  post(
    '/api/secrets',
    async (ctx) => {
      const { name, secret } = readNew(ctx, 'secret', { name: text(), secret: text() })
      const stored = { id: randomUUID(), name, sealed: await service.vault.encrypt(secret) }
      await service.documents.write((tx) => tx.put('secrets', stored))
      describe(ctx, { name, secret_id: stored.id })
      sendCreated(ctx, 'secrets', stored)
    },
    'secrets:encrypt',
  ),

  post(
    '/api/secrets/:secret_id/resolve',
    async (ctx) => {
      const { id, name, sealed } = findOne(service, 'secrets', param(ctx, 'secret_id'))
      describe(ctx, { name, secret_id: id })
      const secret = await service.vault.decrypt(sealed)
      sendJson(ctx, { data: { type: 'secret', id, attributes: { name, secret } } })
    },
    'secrets:resolve',
  ),
]
