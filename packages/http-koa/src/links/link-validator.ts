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

const schema11 = {"type":"object","additionalProperties":false,"properties":{"verb":{"enum":["download","upload"]},"expiresIn":{"type":"integer","minimum":1},"inline":{"type":"boolean"},"prefix":{"type":"boolean"},"maxFiles":{"type":"integer","minimum":1,"maximum":10000},"maxSize":{"type":"integer","minimum":1,"maximum":9007199254740991},"replace":{"type":"boolean"}}};

function validate10(data, {instancePath="", parentData, parentDataProperty, rootData=data}={}){
let vErrors = null;
let errors = 0;
if(data && typeof data == "object" && !Array.isArray(data)){
for(const key0 in data){
if(!(((((((key0 === "verb") || (key0 === "expiresIn")) || (key0 === "inline")) || (key0 === "prefix")) || (key0 === "maxFiles")) || (key0 === "maxSize")) || (key0 === "replace"))){
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
if(data.verb !== undefined){
let data0 = data.verb;
if(!((data0 === "download") || (data0 === "upload"))){
const err1 = {instancePath:instancePath+"/verb",schemaPath:"#/properties/verb/enum",keyword:"enum",params:{allowedValues: schema11.properties.verb.enum},message:"must be equal to one of the allowed values",schema:schema11.properties.verb.enum,parentSchema:schema11.properties.verb,data:data0};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
}
if(data.expiresIn !== undefined){
let data1 = data.expiresIn;
if(!(((typeof data1 == "number") && (!(data1 % 1) && !isNaN(data1))) && (isFinite(data1)))){
const err2 = {instancePath:instancePath+"/expiresIn",schemaPath:"#/properties/expiresIn/type",keyword:"type",params:{type: "integer"},message:"must be integer",schema:schema11.properties.expiresIn.type,parentSchema:schema11.properties.expiresIn,data:data1};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
if((typeof data1 == "number") && (isFinite(data1))){
if(data1 < 1 || isNaN(data1)){
const err3 = {instancePath:instancePath+"/expiresIn",schemaPath:"#/properties/expiresIn/minimum",keyword:"minimum",params:{comparison: ">=", limit: 1},message:"must be >= 1",schema:1,parentSchema:schema11.properties.expiresIn,data:data1};
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
if(data.inline !== undefined){
let data2 = data.inline;
if(typeof data2 !== "boolean"){
const err4 = {instancePath:instancePath+"/inline",schemaPath:"#/properties/inline/type",keyword:"type",params:{type: "boolean"},message:"must be boolean",schema:schema11.properties.inline.type,parentSchema:schema11.properties.inline,data:data2};
if(vErrors === null){
vErrors = [err4];
}
else {
vErrors.push(err4);
}
errors++;
}
}
if(data.prefix !== undefined){
let data3 = data.prefix;
if(typeof data3 !== "boolean"){
const err5 = {instancePath:instancePath+"/prefix",schemaPath:"#/properties/prefix/type",keyword:"type",params:{type: "boolean"},message:"must be boolean",schema:schema11.properties.prefix.type,parentSchema:schema11.properties.prefix,data:data3};
if(vErrors === null){
vErrors = [err5];
}
else {
vErrors.push(err5);
}
errors++;
}
}
if(data.maxFiles !== undefined){
let data4 = data.maxFiles;
if(!(((typeof data4 == "number") && (!(data4 % 1) && !isNaN(data4))) && (isFinite(data4)))){
const err6 = {instancePath:instancePath+"/maxFiles",schemaPath:"#/properties/maxFiles/type",keyword:"type",params:{type: "integer"},message:"must be integer",schema:schema11.properties.maxFiles.type,parentSchema:schema11.properties.maxFiles,data:data4};
if(vErrors === null){
vErrors = [err6];
}
else {
vErrors.push(err6);
}
errors++;
}
if((typeof data4 == "number") && (isFinite(data4))){
if(data4 > 10000 || isNaN(data4)){
const err7 = {instancePath:instancePath+"/maxFiles",schemaPath:"#/properties/maxFiles/maximum",keyword:"maximum",params:{comparison: "<=", limit: 10000},message:"must be <= 10000",schema:10000,parentSchema:schema11.properties.maxFiles,data:data4};
if(vErrors === null){
vErrors = [err7];
}
else {
vErrors.push(err7);
}
errors++;
}
if(data4 < 1 || isNaN(data4)){
const err8 = {instancePath:instancePath+"/maxFiles",schemaPath:"#/properties/maxFiles/minimum",keyword:"minimum",params:{comparison: ">=", limit: 1},message:"must be >= 1",schema:1,parentSchema:schema11.properties.maxFiles,data:data4};
if(vErrors === null){
vErrors = [err8];
}
else {
vErrors.push(err8);
}
errors++;
}
}
}
if(data.maxSize !== undefined){
let data5 = data.maxSize;
if(!(((typeof data5 == "number") && (!(data5 % 1) && !isNaN(data5))) && (isFinite(data5)))){
const err9 = {instancePath:instancePath+"/maxSize",schemaPath:"#/properties/maxSize/type",keyword:"type",params:{type: "integer"},message:"must be integer",schema:schema11.properties.maxSize.type,parentSchema:schema11.properties.maxSize,data:data5};
if(vErrors === null){
vErrors = [err9];
}
else {
vErrors.push(err9);
}
errors++;
}
if((typeof data5 == "number") && (isFinite(data5))){
if(data5 > 9007199254740991 || isNaN(data5)){
const err10 = {instancePath:instancePath+"/maxSize",schemaPath:"#/properties/maxSize/maximum",keyword:"maximum",params:{comparison: "<=", limit: 9007199254740991},message:"must be <= 9007199254740991",schema:9007199254740991,parentSchema:schema11.properties.maxSize,data:data5};
if(vErrors === null){
vErrors = [err10];
}
else {
vErrors.push(err10);
}
errors++;
}
if(data5 < 1 || isNaN(data5)){
const err11 = {instancePath:instancePath+"/maxSize",schemaPath:"#/properties/maxSize/minimum",keyword:"minimum",params:{comparison: ">=", limit: 1},message:"must be >= 1",schema:1,parentSchema:schema11.properties.maxSize,data:data5};
if(vErrors === null){
vErrors = [err11];
}
else {
vErrors.push(err11);
}
errors++;
}
}
}
if(data.replace !== undefined){
let data6 = data.replace;
if(typeof data6 !== "boolean"){
const err12 = {instancePath:instancePath+"/replace",schemaPath:"#/properties/replace/type",keyword:"type",params:{type: "boolean"},message:"must be boolean",schema:schema11.properties.replace.type,parentSchema:schema11.properties.replace,data:data6};
if(vErrors === null){
vErrors = [err12];
}
else {
vErrors.push(err12);
}
errors++;
}
}
}
else {
const err13 = {instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema11.type,parentSchema:schema11,data};
if(vErrors === null){
vErrors = [err13];
}
else {
vErrors.push(err13);
}
errors++;
}
validate10.errors = vErrors;
return errors === 0;
}

export const validate: Validate = validate10
/* c8 ignore stop */
