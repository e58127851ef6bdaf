// @ts-nocheck Written by scripts/write-validator.ts; edit the schema, not this file.
/* c8 ignore start */

/** What is wrong at one place of the data, as ajv says it. */
export interface ShapeError {
  /** A JSON pointer (RFC 6901) into the data. */
  readonly instancePath: string
  /** Of JSON Schema. */
  readonly keyword: string
  readonly params: Readonly<Record<string, unknown>>
  /** What stands there. */
  readonly data?: unknown
}

interface Validate {
  (data: unknown): boolean
  /** Of the last call; `null` if nothing was wrong. */
  readonly errors?: readonly ShapeError[] | null
}

const schema11 = {"type":"array","items":{"type":"string"}};

function validate10(data, {instancePath="", parentData, parentDataProperty, rootData=data}={}){
let vErrors = null;
let errors = 0;
if(Array.isArray(data)){
const len0 = data.length;
for(let i0=0; i0<len0; i0++){
let data0 = data[i0];
if(typeof data0 !== "string"){
const err0 = {instancePath:instancePath+"/" + i0,schemaPath:"#/items/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema11.items.type,parentSchema:schema11.items,data:data0};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
}
}
else {
const err1 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "array"},message:"must be array",schema:schema11.type,parentSchema:schema11,data};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
validate10.errors = vErrors;
return errors === 0;
}

export const validate: Validate = validate10
/* c8 ignore stop */
