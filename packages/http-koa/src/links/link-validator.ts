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

const schema11 = {"type":"object","additionalProperties":false,"properties":{"expiresIn":{"type":"integer","minimum":1},"inline":{"type":"boolean"}}};

function validate10(data, {instancePath="", parentData, parentDataProperty, rootData=data}={}){
let vErrors = null;
let errors = 0;
if(data && typeof data == "object" && !Array.isArray(data)){
for(const key0 in data){
if(!((key0 === "expiresIn") || (key0 === "inline"))){
const err0 = {instancePath,schemaPath:"#/additionalProperties",keyword:"additionalProperties",params:{additionalProperty: key0},message:"must NOT have additional properties",schema:false,parentSchema:schema11,data};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
}
if(data.expiresIn !== undefined){
let data0 = data.expiresIn;
if(!(((typeof data0 == "number") && (!(data0 % 1) && !isNaN(data0))) && (isFinite(data0)))){
const err1 = {instancePath:instancePath+"/expiresIn",schemaPath:"#/properties/expiresIn/type",keyword:"type",params:{type: "integer"},message:"must be integer",schema:schema11.properties.expiresIn.type,parentSchema:schema11.properties.expiresIn,data:data0};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
if((typeof data0 == "number") && (isFinite(data0))){
if(data0 < 1 || isNaN(data0)){
const err2 = {instancePath:instancePath+"/expiresIn",schemaPath:"#/properties/expiresIn/minimum",keyword:"minimum",params:{comparison: ">=", limit: 1},message:"must be >= 1",schema:1,parentSchema:schema11.properties.expiresIn,data:data0};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
}
}
if(data.inline !== undefined){
let data1 = data.inline;
if(typeof data1 !== "boolean"){
const err3 = {instancePath:instancePath+"/inline",schemaPath:"#/properties/inline/type",keyword:"type",params:{type: "boolean"},message:"must be boolean",schema:schema11.properties.inline.type,parentSchema:schema11.properties.inline,data:data1};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
}
}
}
else {
const err4 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema11.type,parentSchema:schema11,data};
if(vErrors === null){
vErrors = [err4];
}
else {
vErrors.push(err4);
}
errors++;
}
validate10.errors = vErrors;
return errors === 0;
}

export const validate: Validate = validate10
/* c8 ignore stop */
