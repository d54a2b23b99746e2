import fs from 'node:fs'
import { Validator } from '@seriousme/openapi-schema-validator'
import { expect, it } from 'vitest'
import { viewsRoutes } from '../../src/http/views/routes.js'
import { compileAll, componentsOf, describeViews } from '../support/openapi.js'
import { serveViews, VIEWS } from './views-served.js'

const document = describeViews(VIEWS)

it('is a valid OpenAPI 3.1 document, without dangling references and unused components', async () => {
  expect(await new Validator().validate({ ...document })).toMatchObject({ valid: true })
  expect(compileAll(document)).toBeGreaterThan(15)
  const { referred, defined } = componentsOf(document)
  expect(referred).toEqual(defined)
})

it('is served, and describes every endpoint', async () => {
  const server = await serveViews()
  const served = await server.send(`${VIEWS}/openapi.json`)
  expect(JSON.parse(served.body)).toEqual(document)
  const operations = Object.entries(document.paths).flatMap(([path, item]) =>
    Object.keys(item).map((method) => `${method} ${path}`),
  )
  expect(operations).toEqual([
    `get ${VIEWS}`,
    `post ${VIEWS}`,
    `get ${VIEWS}/me`,
    `get ${VIEWS}/openapi.json`,
    ...['get', 'patch', 'delete'].map((method) => `${method} ${VIEWS}/{id}`),
  ])
})

it('is what the reference lists', () => {
  const reference = fs.readFileSync(
    new URL('../../docs/reference/http.md', import.meta.url),
    'utf8',
  )
  const section = reference.split('\n## Views\n')[1]!.split('\n## ')[0]!
  const rows = [...section.matchAll(/^\| `([A-Z]+) ([^`]+)` \| (\S+) \| (\d+)/gm)]
  const listed = rows.map(([, ...cells]) => cells.join(' '))
  const described = viewsRoutes.map(({ method, path, action, responses }) =>
    [
      method,
      VIEWS + path.replace('{id}', '<id>'),
      action === 'me' ? 'none' : `\`${action}\``,
      Object.keys(responses)[0],
    ].join(' '),
  )
  expect(listed.toSorted()).toEqual(described.toSorted())
})
