import { requestFiles } from '../../../src/http/record/request-files.js'
import { expect, it } from 'vitest'

const scan = { field: 'scan', name: 'scan.png', type: 'image/png', size: 5 }
const multer = {
  fieldname: 'scan',
  originalname: 'scan.png',
  mimetype: 'image/png',
  size: 5,
  buffer: Buffer.from('hello'),
}
const formidable = { originalFilename: 'scan.png', mimetype: 'image/png', size: 5, filepath: '/x' }
const part = { type: 'file', fieldname: 'scan', filename: 'scan.png', mimetype: 'image/png' }

it.each<[string, unknown, readonly unknown[]]>([
  ['one of multer', [multer, undefined], [scan]],
  ['a list of multer', [undefined, [multer, { ...multer }]], [scan, scan]],
  ['lists by field of multer', { scan: [multer], other: [] }, [scan]],
  ['koa-body', [undefined, { scan: formidable }], [scan]],
  [
    'koa-body, several of one field',
    [undefined, { scan: [formidable, { ...formidable }] }],
    [scan, scan],
  ],
  [
    'koa-body without a name',
    { scan: { ...formidable, originalFilename: null } },
    [{ ...scan, name: null }],
  ],
  ['express-fileupload', { scan: { name: 'scan.png', mimetype: 'image/png', size: 5 } }, [scan]],
  ['fetch', { scan: [new File(['hello'], 'scan.png', { type: 'image/png' })] }, [scan]],
  ['a stream of Fastify', [{ ...part, file: { bytesRead: 5 } }], [scan]],
  ['a buffer of Fastify', [{ ...part, file: {}, _buf: Buffer.from('hello') }], [scan]],
  ['a stream that was not read', [part], [{ ...scan, size: null }]],
  ['the same file twice', [multer, [multer]], [scan]],
  ['fields called as members of files', { name: [multer], size: [{ ...multer }] }, [scan, scan]],
  ['no files', [undefined, null, 'text', 7, {}, []], []],
  ['functions, as of Fastify', [() => {}, () => {}], []],
])('reads %s', (_, given, files) => {
  expect(requestFiles(given)).toEqual(files)
})

it('is bounded for any number, depth and length', () => {
  const many = Array.from({ length: 300 }, () => ({ ...multer, originalname: 'x'.repeat(9999) }))
  const files = requestFiles(many)
  expect(files).toHaveLength(100)
  expect(files[0]!.name).toHaveLength(255)
  const cycle: unknown[] = []
  cycle.push(cycle)
  expect(requestFiles(cycle)).toEqual([])
})
