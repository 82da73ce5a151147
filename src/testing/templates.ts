// Tables from the templates that a project is deployed with. May import everything; only read-document.ts reads files.
export { readTables, type ReadOptions } from './read-document.js'
export { tablesIn, type TemplateOptions } from './tables-in.js'
export type { TemplateTable } from './table-properties.js'
export { TemplateError } from './template-error.js'
