export { openPage, type Page, type PageFile } from './open-page.ts'
